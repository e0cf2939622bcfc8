import CZlib
package import Foundation

/// Data compressed with DEFLATE, either with a zlib or gzip header or without one, as in a store's model cache.
///
/// - SeeAlso: RFC 1951, <https://zlib.net/manual.html>
package enum RawDeflate {
  /// The maximum size of expanded data: far above any model's, far below what would be harmful.
  static let expandedLimit = 1 << 26

  /// Expands data.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` for damaged data, ``PersistenceError/Code/limitExceeded`` if the
  ///   result is larger than ``expandedLimit``.
  package static func expand(_ data: Data, hasHeader: Bool = false, place: PersistenceError.Place) throws -> Data {
    guard data.count <= expandedLimit else {
      throw PersistenceError(.limitExceeded, at: place, "The compressed data has more than \(expandedLimit) bytes.")
    }
    var stream = z_stream()
    // Negative window bits select data without a header; adding 32 to the maximum selects either kind of header.
    let windowBits = hasHeader ? MAX_WBITS + 32 : -MAX_WBITS
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw PersistenceError(.malformedFile, at: place, "zlib couldn't be started.")
    }
    defer { inflateEnd(&stream) }
    var input = [UInt8](data)
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let chunkSize = chunk.count
    var status = Z_OK
    // zlib keeps pointers into both arrays between calls, but uses them only within these closures.
    try input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = uInt(source.count)
      while status == Z_OK {
        let produced = chunk.withUnsafeMutableBufferPointer { target in
          stream.next_out = target.baseAddress
          stream.avail_out = uInt(chunkSize)
          status = inflate(&stream, Z_NO_FLUSH)
          return chunkSize - Int(stream.avail_out)
        }
        output += chunk[..<produced]
        guard output.count <= expandedLimit else {
          throw PersistenceError(
            .limitExceeded, at: place, "The compressed data expands to more than \(expandedLimit) bytes.")
        }
      }
    }
    guard status == Z_STREAM_END else {
      throw PersistenceError(
        .malformedFile, at: place, "The compressed data is damaged or truncated (zlib: \(status)).")
    }
    return Data(output)
  }
}
