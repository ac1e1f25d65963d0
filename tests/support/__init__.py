"""Helpers of several tests: made archives and pages, small models, jobs to run and to kill. Nothing
here is collected as a test."""
