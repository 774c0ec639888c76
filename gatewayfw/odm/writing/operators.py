"""The update operators of models, each a row of one table. Pure.

What an operator does to a stored value is the database's part; that in memory is `gatewayfw.storage.update_operators`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import marshmallow
from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm.reading.filters import Operators, Parser
from gatewayfw.odm.reading.paths import Found, find_in_elements, is_free, takes_any_keys
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import Ability, as_kind
from gatewayfw.schemas.kinds.checks import first_message, plain_message
from gatewayfw.schemas.paths import shown
from gatewayfw.storage.filter_operators import has_operators
from gatewayfw.storage.subset import PULLED
from gatewayfw.storage.update_operators import check_operand, is_each

ANY: Field[Any] = any_()
#: The operator for what only a new document gets.
ON_INSERT = "$setOnInsert"
#: Operators on fields whose names a client may have chosen.
SETTING = ("$set", ON_INSERT)


class Given(NamedTuple):
    """What an update gives an operator for one path; ``now`` is its time, in UTC."""

    operator: str
    path: str
    value: Any
    field: Field[Any]
    now: datetime

    @property
    def place(self) -> str:
        """The path in messages."""
        return f"update.{self.path}"

    @property
    def element(self) -> Field[Any]:
        """The field of a list's elements, or one that takes anything."""
        return as_kind(self.field).elements or ANY

    def refusal(self, message: str) -> ValidationError:
        """Return the error for a value that the operator does not take."""
        return ValidationError({self.place: [message]})


@dataclass(frozen=True)
class Operator:
    """An update operator.

    Attributes:
        store: returns the stored form of what is given, or refuses it.
        needs: what the values of its field must be able to do; None for any field.
        sets: whether an absent field gets just what is given.
        sent_as: the operator that the storage gets instead; empty for the same.
    """

    store: Callable[[Given], Any]
    needs: Ability | None = None
    sets: bool = False
    sent_as: str = ""


def _store_value(given: Given) -> Any:
    return check_value(given.field, given.value, given.place)


def _store_nothing(given: Given) -> Any:
    if given.field.required and "." not in given.path:
        raise given.refusal(messages.REQUIRED)
    return ""


def _store_amount(given: Given) -> Any:
    return _read_number(given, as_kind(given.field).amount)


def _store_factor(given: Given) -> Any:
    return _read_number(given, as_kind(given.field).factor)


def _read_number(given: Given, read: Callable[[Any], Any]) -> Any:
    try:
        number = read(given.value)
    except marshmallow.ValidationError as error:
        raise given.refusal(first_message(error.messages)) from None
    if number is None:
        raise given.refusal(plain_message(given.field, "invalid", messages.NO_NUMBER))
    return number


def _store_now(given: Given) -> Any:
    if given.value is not True and given.value != {"$type": "date"}:
        raise given.refusal(messages.NO_TRUE)
    return check_value(given.field, as_kind(given.field).current(given.now), given.place)


def _store_end(given: Given) -> Any:
    if type(given.value) is not int or given.value not in (1, -1):
        raise given.refusal(messages.NO_END)
    return given.value


def _store_added(given: Given) -> Any:
    """Return the value to add to a list, or ``$each`` with what is beside it."""
    value, element = given.value, given.element
    if _is_data(given):
        return check_value(element, value, given.place)
    check_operand(given.operator, value)
    if not is_each(value):
        return check_value(element, value, given.place)
    if "$sort" in value:
        _check_sort(given, value["$sort"])
    return {
        **value,
        "$each": [check_value(element, one, f"{given.place}.{at}") for at, one in enumerate(value["$each"])],
    }


def _store_pulled(given: Given) -> Any:
    """Return the condition on the elements to pull, or their value."""
    value, element = given.value, given.element
    if _is_data(given):
        stored = check_value(element, value, given.place)
        return {"$in": [stored]} if isinstance(stored, Mapping) else stored
    if isinstance(value, Mapping) and not has_operators(value):
        return _PARSER.filter(find_in_elements(given.field, given.path, "update"), value, given.place)
    return _PARSER.condition(element, value, given.place)


def _is_data(given: Given) -> bool:
    """Tell whether what is given is a value because an element may have any keys.

    Raises:
        ValidationError: it has the keys of operators.
    """
    if isinstance(given.value, Operators) or not takes_any_keys(given.element):
        return False
    if has_operators(given.value):
        raise given.refusal(messages.DISGUISED)
    return True


def _check_sort(given: Given, order: Any) -> None:
    """Refuse to sort a list by what has no order, or by a field that is not there.

    Raises:
        UsageError: it does.
    """
    by: Found = given.element
    if isinstance(order, Mapping):
        (name,) = order
        by = find_in_elements(given.field, given.path, "update")(name)
    if isinstance(by, Field) and not is_free(by) and not as_kind(by).sorts:
        raise UsageError(f"update: $push {shown(given.path)}: its $sort names no field that has an order")


_PARSER = Parser(PULLED)
#: All update operators of models. A new one is a row here, and one in `gatewayfw.storage.update_operators`.
OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "$set": Operator(_store_value, sets=True),
        ON_INSERT: Operator(_store_value, sets=True),
        "$unset": Operator(_store_nothing),
        "$inc": Operator(_store_amount, Ability.CALCULATE),
        "$mul": Operator(_store_factor, Ability.CALCULATE),
        "$min": Operator(_store_value, Ability.ORDER, sets=True),
        "$max": Operator(_store_value, Ability.ORDER, sets=True),
        "$currentDate": Operator(_store_now, Ability.DATE, sent_as="$set"),
        "$push": Operator(_store_added, Ability.LIST),
        "$addToSet": Operator(_store_added, Ability.LIST),
        "$pull": Operator(_store_pulled, Ability.LIST),
        "$pop": Operator(_store_end, Ability.LIST),
    }
)
