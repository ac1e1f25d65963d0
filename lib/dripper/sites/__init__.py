"""What the pages of a host know together: pure functions over what each page keeps of its blocks."""
