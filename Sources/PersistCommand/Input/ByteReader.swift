import Foundation
import Persist

/// Reads a file piece by piece, so that memory use doesn't grow with its size. `/dev/stdin` is standard input.
struct ByteReader {
  let url: URL
  private let handle: FileHandle
  private var piece: [UInt8] = []
  private var index = 0
  private static let pieceSize = 1 << 20
  /// The number of bytes read so far.
  private(set) var position = 0

  /// - Throws: `PersistenceError.Code.fileAccess`.
  init(_ url: URL) throws {
    self.url = url
    do {
      // A socket can't be opened by its name.
      handle = try url.path == "/dev/stdin" ? FileHandle.standardInput : FileHandle(forReadingFrom: url)
    } catch {
      throw Self.failure(url, error)
    }
    // A byte-order mark is no part of the text.
    if try peek() == 0xEF, piece.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  /// Returns the next byte; nil at the end.
  mutating func next() throws -> UInt8? {
    guard let byte = try peek() else { return nil }
    index += 1
    position += 1
    return byte
  }

  /// Returns the next byte without consuming it; nil at the end.
  mutating func peek() throws -> UInt8? {
    if index < piece.count { return piece[index] }
    do {
      piece = try handle.read(upToCount: Self.pieceSize).map { [UInt8]($0) } ?? []
    } catch {
      throw Self.failure(url, error)
    }
    index = 0
    return piece.first
  }

  /// Replaces `line` with the next line, without its end.
  ///
  /// - Returns: false at the end of the file.
  mutating func readLine(into line: inout [UInt8]) throws -> Bool {
    line.removeAll(keepingCapacity: true)
    guard try peek() != nil else { return false }
    while try peek() != nil {
      let rest = piece[index...]
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
        line += rest
        position += rest.count
        index = piece.count
        continue
      }
      line += rest[..<end]
      position += end + 1 - index
      index = end + 1
      break
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return true
  }

  private static func failure(_ url: URL, _ error: any Error) -> PersistenceError {
    let isThere = FileManager.default.fileExists(atPath: url.path)
    return PersistenceError(
      .fileAccess, at: .file(url),
      isThere ? "The file can't be read: \(error.localizedDescription)" : "There is no such file.")
  }
}
