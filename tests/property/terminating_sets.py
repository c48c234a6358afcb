"""A cluster in which a gang is terminated."""

ENDING = b"\xe1\xb4\xeb-]XM\x1bZL\xb9\x82\x18\xfc\xebW= \xed\xb3~"  # a tape of a cluster in which a gang is terminated
