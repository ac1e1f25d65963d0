"""Dripper as a step of other people's pipelines: `dripper.adapters.datatrove`,
`dripper.adapters.nemo_curator`.

Each module needs the package that it is named after: extras `datatrove` and `nemo`.
"""
