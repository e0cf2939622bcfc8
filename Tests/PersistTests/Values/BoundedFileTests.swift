import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Files of limited size")
struct BoundedFileTests {
  private func failure(_ url: URL, limit: Int = 10) -> PersistenceError? {
    #expect(throws: PersistenceError.self) { try BoundedFile.data(at: url, limit: limit) }
  }

  @Test("A file is read up to its limit, through a link too")
  func limit() throws {
    try withTemporaryFolder { folder in
      let (file, link) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("link"))
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      for size in [0, 9, 10] {
        try Data(repeating: 7, count: size).write(to: file)
        #expect(try BoundedFile.data(at: file, limit: 10) == Data(repeating: 7, count: size))
        #expect(try BoundedFile.data(at: link, limit: 10).count == size)
      }
      try Data(repeating: 7, count: 11).write(to: file)
      #expect(failure(file)?.code == .limitExceeded)
      #expect(failure(link)?.code == .limitExceeded)
    }
  }

  @Test("A missing file, a dangling link and a folder are errors that name them")
  func absent() throws {
    try withTemporaryFolder { folder in
      let link = folder.appendingPathComponent("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appendingPathComponent("none"))
      for url in [folder.appendingPathComponent("none"), link, folder] {
        let error = failure(url)
        #expect(error?.code == .fileAccess && error?.place.file == url)
        #expect(error?.message.contains("'\(url.lastPathComponent)'") == true)
      }
    }
  }

  #if !os(Windows)
    @Test("A named pipe, which nobody writes to, is an error and doesn't block")
    func pipe() throws {
      try withTemporaryFolder { folder in
        let url = folder.appendingPathComponent("pipe")
        #expect(mkfifo(url.path, 0o600) == 0)
        #expect(failure(url)?.code == .fileAccess)
      }
    }
  #endif
}
