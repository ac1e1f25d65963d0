"""Finds the images, videos and audio that belong to a page's main content."""
