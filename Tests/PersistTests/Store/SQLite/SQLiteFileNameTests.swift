import Foundation
import PersistTestSupport
import Testing

@testable import PersistCore

@Suite("Names of SQLite's files")
struct SQLiteFileNameTests {
  @Test("The path of a store is that of its URL without symbolic links, also where there is no file")
  func resolvedPaths() throws {
    try withTemporaryFolder { folder in
      let files = FileManager.default
      let real = SQLiteFileName.resolved(folder).appendingPathComponent("a folder %41", isDirectory: true)
      try files.createDirectory(at: real, withIntermediateDirectories: false)
      let store = real.appendingPathComponent("Größe?#.sqlite")
      try Data([1]).write(to: store)
      let linkedFolder = folder.appendingPathComponent("link", isDirectory: true)
      try files.createSymbolicLink(at: linkedFolder, withDestinationURL: real)
      let linkedFile = folder.appendingPathComponent("other.sqlite")
      try files.createSymbolicLink(at: linkedFile, withDestinationURL: store)
      let name = store.lastPathComponent
      for url in [store, linkedFolder.appendingPathComponent(name), linkedFile] {
        #expect(SQLiteFileName.resolvedPath(url) == store.path)
      }
      let base = URL(fileURLWithPath: folder.path, isDirectory: true)
      #expect(SQLiteFileName.resolvedPath(URL(fileURLWithPath: "link/" + name, relativeTo: base)) == store.path)
      for missing in [linkedFolder.appendingPathComponent("missing"), folder.appendingPathComponent("no/folder")] {
        #expect(SQLiteFileName.resolvedPath(missing) == SQLiteFileName.resolved(missing).path)
      }
    }
  }

  @Test(
    "The hidden folders beside a store are found by its path",
    arguments: ["a.sqlite", "Größe 1/b", "c/d.e/f.sqlite"])
  func hiddenFolders(name: String) {
    let url = URL(fileURLWithPath: "/tmp/stores").appendingPathComponent(name)
    let migration = SQLiteFileName.hiddenPath(beside: url.path, WorkingFolder.suffix)
    #expect(migration == WorkingFolder.url(besideStoreAt: url).path)
    let backup = SQLiteFileName.hiddenPath(beside: url.path, BackupFolder.suffix)
    #expect(backup == BackupFolder.url(besideStoreAt: url).path)
    let hidden = "\(url.deletingLastPathComponent().path)/.\(url.lastPathComponent)"
    #expect(migration == hidden + ".migration" && backup == hidden + ".backup")
  }
}
