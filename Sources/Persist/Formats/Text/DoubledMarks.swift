extension StringProtocol {
  /// The text with these ASCII characters doubled, as quoted texts of SQL and CSV contain them.
  ///
  /// Works on bytes: a quotation mark followed by a combining mark is one `Character`, which equals neither of the two.
  package func doubling(_ marks: Unicode.Scalar...) -> String {
    let doubled = marks.map { UInt8(ascii: $0) }
    guard utf8.contains(where: doubled.contains) else { return String(self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count + 8)
    for byte in utf8 {
      bytes.append(byte)
      if doubled.contains(byte) { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
