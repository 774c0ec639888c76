"""The model user and its acts."""

from ..service import Service
from . import (
    add_user,
    get_me,
    get_my_users,
    get_user,
    get_users,
    login,
    remove_user,
    set_avatar,
    set_user_roles,
    update_user,
    update_user_relations,
)


def register(service: Service) -> None:
    """Register all acts of user."""
    for act in (
        login,
        add_user,
        update_user,
        update_user_relations,
        remove_user,
        get_user,
        get_users,
        get_me,
        get_my_users,
        set_user_roles,
        set_avatar,
    ):
        act.register(service)
