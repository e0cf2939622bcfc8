#if !os(Windows)
  import Foundation
  import Persist
  import PersistTestSupport
  import Testing

  /// The compiler and the studio are scripts: building the real studio takes a minute, which `Scripts/test-studio` does.
  @Suite("persist studio", .aboutPlainFiles("the arguments of other programs"))
  struct StudioCommandTests {
    /// A checkout with a copy of `persist`, which was built in it.
    private struct Checkout {
      let root: URL
      var tools: URL { root.appendingPathComponent("tools") }
      var program: URL { root.appendingPathComponent(".build/host/debug/persist") }
      var studio: URL { root.appendingPathComponent(".build/host/debug/persist-studio") }
      var source: URL { root.appendingPathComponent("Studio/Sources/Studio.swift") }
      private var state: URL { root.appendingPathComponent(".build/workspace-state.json") }

      init(in folder: URL) throws {
        root = folder.appendingPathComponent("checkout")
        let manager = FileManager.default
        for file in [program, studio, source, tools.appendingPathComponent("swift")] {
          try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        for file in [source, state, root.appendingPathComponent("Package.swift")] {
          try Data().write(to: file)
        }
        try manager.copyItem(at: BuiltProgram.url("persist"), to: program)
        try StudioCommandTests.makeStore(in: root)
      }

      /// - Parameter script: What the compiler does. The variable `studio` is the file of the program to build.
      func setCompiler(_ script: String) throws {
        let text = "#!/bin/sh\nstudio='\(studio.path)'\necho \"$@\" >> '\(root.path)/calls'\n\(script)\n"
        try StudioCommandTests.write(text, to: tools.appendingPathComponent("swift"))
      }

      var calls: [String] {
        let text = try? String(contentsOf: root.appendingPathComponent("calls"), encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
      }

      func run(_ arguments: String...) throws -> Command.Outcome {
        try Command.run(
          ["studio"] + arguments, program: program, in: root, environment: ["PATH": "\(tools.path):/usr/bin:/bin"])
      }
    }

    /// Makes the store `Shop.sqlite` in a folder.
    private static func makeStore(in folder: URL) throws {
      let model = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Item")]))
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.remove(coordinator.addStore(at: folder.appendingPathComponent("Shop.sqlite")))
    }

    private static func write(_ script: String, to file: URL) throws {
      try Data(script.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    private static let building = """
      echo '[1/2] Compiling Studio'; printf '#!/bin/sh\\necho "studio of the checkout: $@"\\nexit 7\\n' > "$studio"
      chmod +x "$studio"
      """

    @Test("In a checkout, the studio is built when it is missing or older than a source")
    func checkout() throws {
      try withTemporaryFolder { folder in
        let checkout = try Checkout(in: folder)
        try checkout.setCompiler(Self.building)
        let first = try checkout.run("Shop.sqlite", "--write")
        #expect(first.status == 7 && first.output == "studio of the checkout: --write -- Shop.sqlite\n")
        #expect(first.messages == "Building the studio, which takes a minute the first time.\n")
        let second = try checkout.run("Shop.sqlite", "--models", "My Models", "--port", "8080")
        let expected = "studio of the checkout: --models=My Models --port=8080 -- Shop.sqlite\n"
        #expect(second.output == expected && second.messages.isEmpty)
        try #expect(#require(checkout.calls.first).hasSuffix("--product persist-studio --configuration debug"))
        #expect(checkout.calls.count == 1)
        // A source that the program doesn't need is compiled once too, although the program stays as it is.
        for (file, date) in [(checkout.studio, -20.0), (checkout.source, -10)] {
          try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: date)], ofItemAtPath: file.path)
        }
        try FileManager.default.removeItem(at: checkout.studio.appendingPathExtension("built"))
        try checkout.setCompiler("exit 0")
        for _ in 0..<2 { try #expect(checkout.run("Shop.sqlite").status == 7) }
        #expect(checkout.calls.count == 2)
      }
    }

    @Test("A build that fails is reported by its first error, and so is a missing compiler")
    func failures() throws {
      try withTemporaryFolder { folder in
        let checkout = try Checkout(in: folder)
        try checkout.setCompiler(
          Self.building + "\necho 'a.swift:1:1: error: no such module'; echo 'error: fatalError' >&2; exit 1")
        let failed = try checkout.run("Shop.sqlite")
        #expect(failed.status == 1 && failed.output.isEmpty)
        #expect(failed.messages.contains("The studio can't be built: a.swift:1:1: error: no such module"))
        #expect(failed.messages.contains("swift build --package-path"))
        try FileManager.default.removeItem(at: checkout.studio)
        try FileManager.default.removeItem(at: checkout.tools.appendingPathComponent("swift"))
        let missing = try Command.run(
          ["studio", "Shop.sqlite"], program: checkout.program, in: checkout.root,
          environment: ["PATH": checkout.tools.path])
        #expect(missing.status == 1 && missing.messages.contains("no folder of PATH contains 'swift'"))
        try Self.write("#!/bin/sh\necho installed: $2\n", to: checkout.tools.appendingPathComponent("persist-studio"))
        #expect(try checkout.run("Shop.sqlite").output == "installed: Shop.sqlite\n")
      }
    }

    @Test("Help and mistakes don't wait for a build")
    func mistakes() throws {
      try withTemporaryFolder { folder in
        let checkout = try Checkout(in: folder)
        try checkout.setCompiler("exit 1")
        let help = try checkout.run("--help")
        #expect(help.status == 0 && help.output.contains("--key-env") && help.output.contains("persist studio Shop"))
        for arguments in [[], ["Shop.sqlite", "--port", "70000"], ["Shop.sqlite", "--prot", "1"], ["a", "b"]] {
          let outcome = try Command.run(["studio"] + arguments, program: checkout.program, in: checkout.root)
          #expect(outcome.status == 2 && outcome.messages.contains("persist studio"), "\(outcome.messages)")
        }
        let missing = try checkout.run("Shpo.sqlite")
        #expect(missing.status == 1 && missing.messages.contains("Shpo.sqlite"), "\(missing.messages)")
        #expect(checkout.calls.isEmpty)
      }
    }

    @Test("A store on a server has a program of its own", .needsServer)
    func server() throws {
      try withTemporaryFolder { folder in
        let program = folder.appendingPathComponent("persist")
        try FileManager.default.copyItem(at: BuiltProgram.url("persist"), to: program)
        let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
        try TestServer.withSchema { server in
          try #require(Command.run("fill", server, "--models", shop, "--rows", "1").status == 0)
          let run = { try Command.run(["studio", server], program: program, environment: ["PATH": "/bin"]) }
          let missing = try run()
          #expect(missing.status == 1 && missing.messages.contains("'persist-studio-postgresql' isn't installed"))
          let studio = folder.appendingPathComponent("persist-studio-postgresql")
          try Self.write("#!/bin/sh\necho beside: $2\n", to: studio)
          #expect(try run().output == "beside: \(server)\n")
        }
      }
    }

    @Test("Outside of a checkout, the studio is the one beside the program, and then the one in PATH")
    func installed() throws {
      try withTemporaryFolder { folder in
        let (own, tools) = (folder.appendingPathComponent("own"), folder.appendingPathComponent("tools"))
        for folder in [own, tools] {
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let program = own.appendingPathComponent("persist")
        try FileManager.default.copyItem(at: BuiltProgram.url("persist"), to: program)
        let run = {
          try Command.run(
            ["studio", "Shop.sqlite"], program: program, in: folder, environment: ["PATH": "\(tools.path):/bin"])
        }
        try Self.makeStore(in: folder)
        let missing = try run()
        #expect(missing.status == 1 && missing.messages.contains("'persist-studio' isn't installed"))
        #expect(missing.messages.contains("Run 'Scripts/install'"))
        try Self.write("#!/bin/sh\necho in PATH: $2\n", to: tools.appendingPathComponent("persist-studio"))
        #expect(try run().output == "in PATH: Shop.sqlite\n")
        try Self.write("#!/bin/sh\necho beside: $2\n", to: own.appendingPathComponent("persist-studio"))
        #expect(try run().output == "beside: Shop.sqlite\n")
      }
    }
  }
#endif
