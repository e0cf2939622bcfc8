extension PropertyList {
  /// A key that identifies a string or a number by its bytes: `==` also holds for strings in different normalization
  /// forms, and for 0 and -0. Other values are identified by `==`.
  package enum ByteIdentity: Hashable {
    case text([UInt8])
    case real(UInt64)
    case other(PropertyList)

    package init(_ value: PropertyList) {
      switch value {
      case .string(let text): self = .text(Array(text.utf8))
      case .real(let number): self = .real(number.bitPattern)
      default: self = .other(value)
      }
    }

    package func hash(into hasher: inout Hasher) {
      switch self {
      // Hashes all bytes at once; the standard library hashes the elements of an array one by one.
      case .text(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
      case .real(let bits): hasher.combine(bits)
      case .other(let value): hasher.combine(value)
      }
    }
  }
}
