public import Foundation

extension PropertyList {
  /// How much a reader takes before it gives up on an input that may have been made to harm.
  enum Limits {
    /// The bytes of a whole property list.
    static let bytes = 1 << 28
    /// How deep arrays and dictionaries may nest.
    static let depth = 200
    /// How many values a list may come to when each shared object counts wherever it is referred to.
    static let expandedValues = 1 << 24
  }

  /// Reads a property list, binary (`bplist00`) or XML.
  ///
  /// Nothing outside the data is read: an XML list with a document type other than Apple's plain one is refused.
  ///
  /// - Parameter place: where the bytes come from, for errors.
  /// - Throws: ``PersistenceError/Code/malformedFile`` or ``PersistenceError/Code/limitExceeded``, with the byte or the
  ///   line.
  /// - Complexity: linear in the size of the data.
  public init(data: Data, place: PersistenceError.Place = .unknown) throws {
    guard data.count <= Limits.bytes else {
      throw PersistenceError(
        .limitExceeded, at: place, "The property list has \(data.count) bytes; at most \(Limits.bytes) are read.")
    }
    let bytes = [UInt8](data)
    if bytes.starts(with: Array("bplist".utf8)) {
      self = try BinaryPropertyListReader(bytes, place: place).read()
    } else if XMLPropertyListReader.recognises(bytes) {
      self = try XMLPropertyListReader(place: place).read(data)
    } else {
      throw PersistenceError(
        .malformedFile, at: place, "This is neither a binary nor an XML property list.",
        fix: "Give a file that begins with 'bplist00' or with '<?xml' or '<plist'.")
    }
  }
}
