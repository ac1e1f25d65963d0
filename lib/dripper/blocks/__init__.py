"""Splits a page's tree into blocks, and writes simplified and mapping HTML (Dripper paper 3.2,
A.10). `profiles` holds the rules for the split."""
