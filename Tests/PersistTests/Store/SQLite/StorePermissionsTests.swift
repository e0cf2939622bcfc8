#if !os(Windows)
  import Foundation
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Permissions of a store's files", .aboutFiles("permissions of files"))
  struct StorePermissionsTests {
    private func mode(_ url: URL) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber).intValue
    }

    /// The modes of everything in a folder, except the named, by path.
    private func modes(in folder: URL) throws -> [String: Int] {
      var modes: [String: Int] = [:]
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        modes[path] = try mode(folder.appendingPathComponent(path))
      }
      return modes
    }

    private func withPrivateStore(
      _ body: (PersistentStoreCoordinator, ManagedObjectContext, URL) throws -> Void
    ) throws {
      try withTemporaryStore { url in
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.types))
        try coordinator.addStoreAndClose(at: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        try context.make("Sample", ["external": Data(repeating: 1, count: 500_000)])
        try context.save()
        try body(coordinator, context, url)
      }
    }

    @Test("Large values, backups and copies of a private store are private", .aboutFilesOfLargeValues)
    func privateStore() throws {
      try withPrivateStore { coordinator, _, url in
        let folder = url.deletingLastPathComponent()
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.backUp(store, to: folder.appendingPathComponent("Backup.sqlite"))
        try StoreBackup.copy(storeAt: url, to: folder.appendingPathComponent("Copy.sqlite"))
        try coordinator.migratePersistentStore(store, to: folder.appendingPathComponent("Moved.sqlite"))
        let modes = try modes(in: folder)
        #expect(modes.count > 10)
        #expect(modes.filter { $0.value & 0o077 != 0 } == [:])
      }
    }

    @Test(
      "If others may read the store, they may read its large values",
      .aboutFilesOfLargeValues, arguments: [0o640, 0o644, 0o660])
    func shared(permissions: Int) throws {
      try withPrivateStore { _, context, url in
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path)
        let values = ExternalDataFolder(storeAt: url)
        let before = values.names()
        try context.make("Sample", ["external": Data(repeating: 2, count: 500_000)])
        try context.save()
        let name = try #require(values.names().first { !before.contains($0) })
        try #expect(mode(values.url.appendingPathComponent(name)) == permissions)
      }
    }

    @Test("A migration to a new file is private while it runs, and keeps the store's permissions")
    func migration() throws {
      let scenario = try MigrationScenario(.copiedByObject)
      try withTemporaryStore { url in
        try scenario.makeStore(at: url, marks: 12)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        let working = WorkingFolder.url(besideStoreAt: url)
        var migrator = scenario.migrator
        let seen = LockProtected<[Int]>([])
        migrator.progress = { _ in
          if let mode = try? mode(working) { seen.withLock { $0.append(mode) } }
          return true
        }
        try migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry)
        #expect(Set(seen.withLock { $0 }) == [0o700])
        try #expect(mode(url) == 0o600)
      }
    }

    @Test("Symbolic links in the folder of large values aren't followed", .aboutFilesOfLargeValues)
    func links() throws {
      try withPrivateStore { coordinator, context, url in
        let files = FileManager.default
        let secret = url.deletingLastPathComponent().appendingPathComponent("secret")
        try Data("secret".utf8).write(to: secret)
        let values = ExternalDataFolder(storeAt: url)
        let name = try #require(values.names().first)
        let file = values.url.appendingPathComponent(name)
        let content = try Data(contentsOf: file)
        try files.removeItem(at: file)
        try files.createSymbolicLink(at: file, withDestinationURL: secret)
        #expect(persistError { _ = try values.data(named: name) }?.code == .malformedFile)
        // Neither is a linked folder, through which files anywhere could be read, written and deleted.
        try files.removeItem(at: file)
        try content.write(to: file)
        let elsewhere = url.deletingLastPathComponent().appendingPathComponent("elsewhere")
        try files.moveItem(at: values.url, to: elsewhere)
        try files.createSymbolicLink(at: values.url, withDestinationURL: elsewhere)
        #expect(persistError { _ = try values.data(named: name) }?.code == .malformedFile)
        #expect(values.names() == [])
        try context.make("Sample", ["external": Data(repeating: 3, count: 500_000)])
        #expect(persistError { try context.save() }?.code == .malformedFile)
        #expect(try files.contentsOfDirectory(atPath: elsewhere.path) == [name])
        try coordinator.destroyPersistentStore(at: url)
        #expect(try files.contentsOfDirectory(atPath: elsewhere.path) == [name])
      }
    }
  }
#endif
