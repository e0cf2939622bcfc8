package import Foundation

extension UUID {
  /// The sixteen bytes.
  // Making data from bytes of unknown number is a kilobyte where it is inlined.
  @inline(never)
  package var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}
