"""For tools that look for it; everything is in setup.cfg."""

from setuptools import setup

setup()
