public import Foundation

extension PropertyList {
  /// The limits at which a reader rejects input, which may be malicious.
  package enum Limits {
    /// The size of a complete property list in bytes.
    package static let bytes = 1 << 28
    /// The nesting depth of arrays and dictionaries.
    static let depth = 200
    /// The number of values in a list, where a shared object counts once per reference.
    static let expandedValues = 1 << 24
  }

  /// Reads a property list, binary (`bplist00`) or XML.
  ///
  /// Nothing outside the data is read: an XML list whose document type declares anything is rejected.
  ///
  /// - Parameters:
  ///   - data: the bytes of the property list.
  ///   - place: the source of the bytes, for errors.
  /// - Throws: ``PersistenceError/Code/malformedFile`` or ``PersistenceError/Code/limitExceeded``, with the byte offset
  ///   or the line.
  /// - Complexity: linear in the size of the data.
  public init(data: Data, place: PersistenceError.Place = .unknown) throws {
    guard data.count <= Limits.bytes else {
      throw PersistenceError(
        .limitExceeded, at: place, "The property list has \(data.count) bytes; at most \(Limits.bytes) are read.")
    }
    let bytes = [UInt8](data)
    if bytes.starts(with: Array("bplist".utf8)) {
      self = try BinaryPropertyListReader(bytes, place: place).read()
    } else if XMLPropertyListReader.recognizes(bytes) {
      self = try XMLPropertyListReader(place: place).read(data)
    } else {
      throw PersistenceError(
        .malformedFile, at: place, "This is neither a binary nor an XML property list.",
        fix: "Provide a file that begins with 'bplist00' or with '<?xml' or '<plist'.")
    }
  }
}
