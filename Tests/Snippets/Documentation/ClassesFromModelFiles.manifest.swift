import PackageDescription

func manifest() {
  _ = Package(
    name: "App", dependencies: [.package(name: "Persist", path: "../persist")],
    targets: [
      // <block 2>
    ])
}
