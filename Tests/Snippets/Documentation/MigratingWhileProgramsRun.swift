// <block 0>
