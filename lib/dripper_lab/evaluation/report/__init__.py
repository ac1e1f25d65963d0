"""From the scores of a run to one HTML file: tables, tests of significance, pictures, the worst
pages."""
