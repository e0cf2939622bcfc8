import CPostgreSQL
import Persist

/// The rows of a statement, which libpq allocated.
///
/// `@unchecked Sendable` isn't needed: a result stays with the thread that reads it.
final class LibPQResult: ServerResult {
  private let result: OpaquePointer
  let rowCount: Int

  init(_ result: OpaquePointer) {
    self.result = result
    rowCount = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  var changedRowCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    guard PQgetisnull(result, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }
}
