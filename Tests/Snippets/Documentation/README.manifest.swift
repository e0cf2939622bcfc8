import PackageDescription

func manifest() {
  // <block 2>
  _ = package
}
