"""Tests of the parsing room; `captures` reads the true outputs they work on."""
