"""Turns the scores of a run into one HTML file: tables, tests of significance, pictures, the worst
pages."""
