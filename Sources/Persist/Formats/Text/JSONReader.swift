package import Foundation

/// Reads JSON with Foundation's decoder, in bounded time and memory.
package enum JSONReader {
  static let byteLimit = 64 << 20

  /// - Parameters:
  ///   - url: the file to name in errors.
  ///   - keepingDigits: whether a number with more digits than a decimal holds is rejected instead of rounded.
  /// - Throws: ``PersistenceError/Code/malformedFile`` with line and column, or with the key path of a value that can't
  ///   be represented; ``PersistenceError/Code/limitExceeded``.
  package static func value(in data: Data, from url: URL? = nil, keepingDigits: Bool = false) throws -> JSONElement {
    guard data.count <= byteLimit else {
      throw PersistenceError(
        .limitExceeded, at: PersistenceError.Place(file: url), "The text has more than \(byteLimit) bytes.")
    }
    // Foundation interprets text that contains zero bytes as UTF-16 or UTF-32.
    guard String(data: data, encoding: .utf8) != nil, !data.contains(0) else {
      throw PersistenceError(.malformedFile, at: PersistenceError.Place(file: url), "The file isn't UTF-8 text.")
    }
    let scan = JSONScan(data, from: url)
    try scan.check()
    if keepingDigits { try scan.checkDigits() }
    do {
      return try JSONDecoder().decode(JSONElement.self, from: data)
    } catch let error as DecodingError {
      throw malformed(error, data: data, url: url)
    }
  }

  /// Adds a place to a decoding error. On Linux `JSONDecoder` provides none; `JSONSerialization` names the byte in its
  /// message.
  private static func malformed(_ error: DecodingError, data: Data, url: URL?) -> PersistenceError {
    do {
      _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    } catch {
      let information = (error as NSError).userInfo
      let words = information[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
      let offset = information["NSJSONSerializationErrorIndex"] as? Int
        ?? words.firstMatch(of: /character (\d+)/).flatMap { Int($0.1) } ?? data.count
      return PersistenceError(
        .malformedFile, at: PersistenceError.Place(file: url, index: data.startIndex + offset, in: data),
        "This isn't JSON: \(words)")
    }
    guard case .dataCorrupted(let context) = error else {
      return PersistenceError(.malformedFile, at: PersistenceError.Place(file: url), "This isn't JSON: \(error)")
    }
    let key = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return PersistenceError(
      .malformedFile, at: PersistenceError.Place(file: url, key: key.hasPrefix(".") ? String(key.dropFirst()) : key),
      context.debugDescription)
  }
}
