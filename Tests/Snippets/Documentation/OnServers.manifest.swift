import PackageDescription

func manifest() {
  // <block 0>
  _ = package
}
