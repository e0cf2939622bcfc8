import Foundation

extension PersistenceError.Place {
  /// Converts an index into a text's bytes to a line and a column, which counts bytes.
  ///
  /// - Complexity: linear in the index.
  init(file: URL?, index: Data.Index, in data: Data) {
    let before = data[data.startIndex..<min(index, data.endIndex)]
    let newLine = UInt8(ascii: "\n")
    let lineStart = before.lastIndex(of: newLine).map { $0 + 1 } ?? before.startIndex
    self.init(file: file, line: before.count { $0 == newLine } + 1, column: before.endIndex - lineStart + 1)
  }
}
