import Foundation

/// Checks JSON text, before decoding, for problems that Foundation's decoder ignores.
///
/// `JSONDecoder` keeps one of two members with the same name, which could silently drop half a model, accepts trailing
/// commas on some platforms, and doesn't limit the number of values. All other checks are left to it.
struct JSONScan {
  private static let depthLimit = 64
  private static let valueLimit = 1_000_000

  private let data: Data
  private let url: URL?

  init(_ data: Data, from url: URL?) {
    self.data = data
    self.url = url
  }

  func check() throws {
    let bytes = [UInt8](data)
    /// The keys found so far in each open object or list.
    var open: [Set<String>] = []
    var text: Range<Int>?
    var values = 0
    var last: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        let start = index
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        text = start..<min(index + 1, bytes.count)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        values += 1
        guard open.count < Self.depthLimit else {
          throw error(.limitExceeded, "Values are nested more than \(Self.depthLimit) deep.", at: index)
        }
        open.append([])
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard last != UInt8(ascii: ",") else { throw error(.malformedFile, "Expected a value after ','.", at: index) }
        _ = open.popLast()
      case UInt8(ascii: ","):
        values += 1
        guard values < Self.valueLimit else {
          throw error(.limitExceeded, "The file has more than \(Self.valueLimit) values.", at: index)
        }
      case UInt8(ascii: ":"):
        if let text, let key = Self.key(bytes[text]), !open.isEmpty {
          guard open[open.count - 1].insert(key).inserted else {
            throw error(.malformedFile, "The key '\(key)' occurs twice in one object.", at: text.lowerBound)
          }
        }
      default: break
      }
      if byte > 0x20 { last = byte }
      index += 1
    }
  }

  /// Checks for numbers with more significant digits than a decimal holds, which the decoder would round silently.
  func checkDigits() throws {
    let bytes = [UInt8](data)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        let token = bytes[index...].prefix { Self.numberBytes.contains($0) }
        if token.count > Self.digitLimit, let text = DecimalText(String(decoding: token, as: UTF8.self)),
          text.digits.count > Self.digitLimit
        {
          throw error(.limitExceeded, "A number has more than \(Self.digitLimit) digits.", at: index)
        }
        index += token.count - 1
      }
      index += 1
    }
  }

  private static let digitLimit = 38
  private static let numberBytes = Set("0123456789.eE+-".utf8)

  /// Decodes a quoted string; nil if it is malformed, which the decoder reports better.
  private static func key(_ quoted: ArraySlice<UInt8>) -> String? {
    guard quoted.contains(UInt8(ascii: "\\")) else {
      return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    }
    return try? JSONDecoder().decode(String.self, from: Data(quoted))
  }

  private func error(_ code: PersistenceError.Code, _ message: String, at index: Int) -> PersistenceError {
    PersistenceError(code, at: PersistenceError.Place(file: url, index: data.startIndex + index, in: data), message)
  }
}
