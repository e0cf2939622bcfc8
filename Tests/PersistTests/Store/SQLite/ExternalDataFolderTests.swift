import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Files of large values")
struct ExternalDataFolderTests {
  @Test("A value's file is found beside the store, under the store's name without extension")
  func found() throws {
    try withTemporaryFolder { folder in
      let name = "0F54C1B0-6E0C-4D47-9A0F-7DD1E2E2B8A4"
      let files = ExternalDataFolder(storeAt: folder.appendingPathComponent("My Store.v2.sqlite"))
      #expect(files.url.path.hasSuffix("/.My Store.v2_SUPPORT/_EXTERNAL_DATA"))
      #expect(try files.file(named: name) == nil)
      #expect(files.names() == [])
      try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
      try Data("photo".utf8).write(to: files.url.appendingPathComponent(name))
      #expect(try files.data(named: name) == Data("photo".utf8))
      #expect(files.names() == [name])
    }
  }

  @Test("A missing file is an error that names the folder to restore")
  func missing() throws {
    let files = ExternalDataFolder(storeAt: URL(fileURLWithPath: "/nowhere/Shop.sqlite"))
    let error = #expect(throws: PersistenceError.self) { try files.data(named: "A") }
    #expect(error?.code == .fileAccess)
    #expect(error?.fix?.contains(".Shop_SUPPORT") == true)
  }

  #if os(Linux)
    @Test("A full disk is reported as such, and other errors of writing as errors of access")
    func fullDisk() throws {
      // Every write to this device fails for lack of space.
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
      defer { try? handle.close() }
      do {
        try handle.write(contentsOf: Data([1]))
        Issue.record("The device isn't full.")
      } catch {
        #expect(PersistenceError.Code(ofWriting: error) == .diskFull)
      }
      #expect(PersistenceError.Code(ofWriting: POSIXError(.ENOSPC)) == .diskFull)
      #expect(PersistenceError.Code(ofWriting: POSIXError(.EDQUOT)) == .diskFull)
      #expect(PersistenceError.Code(ofWriting: POSIXError(.EACCES)) == .fileAccess)
      #expect(PersistenceError.Code(ofWriting: CocoaError(.fileWriteOutOfSpace)) == .diskFull)
      #expect(PersistenceError.Code(ofWriting: CocoaError(.fileWriteNoPermission)) == .fileAccess)
    }
  #endif

  @Test(
    "A name that leads out of the folder is refused",
    arguments: [
      "", ".", "..", "../Shop.sqlite", "a/b", "a\\b", "a\0b", "/etc/passwd", String(repeating: "a", count: 256),
    ])
  func traversal(_ name: String) throws {
    let files = ExternalDataFolder(storeAt: URL(fileURLWithPath: "/tmp/Shop.sqlite"))
    #expect(throws: PersistenceError.self) { try files.file(named: name) }
  }
}
