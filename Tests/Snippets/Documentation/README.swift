// as-script
// <block 1>
