"""The same service on other frameworks; each is left out where it is not installed (the extra ``bench``)."""
