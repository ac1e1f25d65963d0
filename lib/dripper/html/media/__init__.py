"""Finds the pictures, films and sounds of a page that belong to its main content."""
