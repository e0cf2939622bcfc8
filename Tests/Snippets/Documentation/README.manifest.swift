import PackageDescription

func manifest() {
  // <block 1>
  _ = package
}
