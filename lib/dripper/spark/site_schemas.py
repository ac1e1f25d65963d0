"""The columns that are about sites: what a page keeps for its host, and the tables of hosts."""

from pyspark.sql.types import ArrayType, BooleanType, IntegerType, LongType, StringType, StructField, StructType

from dripper.spark.fields import column

_OF_BLOCKS = [
    StructField("paths", ArrayType(LongType())),
    StructField("texts", ArrayType(LongType())),
    StructField("words", ArrayType(IntegerType())),
]
"""Of each block of a page: hashes of its path and its text, and its words."""

SITE_MEMORY = StructType([*_OF_BLOCKS, StructField("signature", ArrayType(IntegerType()))])

SITE_BLOCKS = StructType(
    [
        column("batch", LongType(), "The batch whose pages were counted; the partition", nullable=False),
        column("host", StringType(), "Key: the host", nullable=False),
        column("kind", StringType(), "Key: page, path, text or layout", nullable=False),
        column("fingerprint", LongType(), "Key: hash of the path, text or skeleton; 0: of all pages", nullable=False),
        column("pages", LongType(), "Pages that have it, of those that were counted"),
        column(
            "words",
            LongType(),
            "Words on the path, at most 50 a block; of kind page, all pages of the host, counted or not",
        ),
        column(
            "log_odds",
            LongType(),
            "Of main content, a block's times its words, summed, in steps of 1/64; of kind page, confidence in 1/10,000",
        ),
        column("signature", ArrayType(IntegerType()), "Of kind layout: the skeleton's MinHash"),
    ]
)

EXAMPLE = StructType(
    [
        StructField("page_id", StringType()),
        *_OF_BLOCKS,
        StructField("main", ArrayType(BooleanType())),
        StructField("labeler", StringType()),
        StructField("labeler_version", StringType()),
    ]
)

LAYOUTS = StructType(
    [
        column("batch", LongType(), "The batch whose pages these are; the partition", nullable=False),
        column("host", StringType(), "Key: the host; empty: pages of which no layout is known", nullable=False),
        column("layout_id", StringType(), "Key: the layout, as in extractions", nullable=False),
        column("pages", LongType(), "Pages of the batch that have it"),
        column(
            "representatives",
            ArrayType(StringType()),
            "Pages of the batch that an expensive labeler was asked for; empty: there is none",
        ),
        column("state", StringType(), "Who labels its other pages, see docs/sites.md"),
        column(
            "examples",
            ArrayType(EXAMPLE),
            "Representatives with what the template learns from: hashes of each block's path and text, its words, its label",
        ),
    ]
)
