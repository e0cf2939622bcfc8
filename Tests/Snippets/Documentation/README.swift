// as-script
// <block 0>
