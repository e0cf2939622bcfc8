import CPostgreSQLForBenchmarks
import Foundation

/// A connection of libpq, used in the fastest way that is known by hand: binary, prepared, whole results, and several
/// statements in one flight.
final class PlainConnection {
  private let handle: OpaquePointer
  private var prepared: [String: String] = [:]

  /// A parameter in the server's binary form.
  struct Parameter {
    let type: UInt32
    let bytes: [UInt8]

    static func integer(_ value: Int64) -> Parameter { Parameter(type: 20, bytes: bigEndian(UInt64(bitPattern: value))) }

    static func integers(_ values: some Collection<Int64>) -> Parameter {
      array(1016, of: 20, values.count) { buffer in
        for value in values {
          buffer += [0, 0, 0, 8]
          withUnsafeBytes(of: value.bigEndian) { buffer.append(contentsOf: $0) }
        }
      }
    }

    static func doubles(_ values: some Collection<Double>) -> Parameter {
      array(1022, of: 701, values.count) { buffer in
        for value in values {
          buffer += [0, 0, 0, 8]
          withUnsafeBytes(of: value.bitPattern.bigEndian) { buffer.append(contentsOf: $0) }
        }
      }
    }

    static func texts(_ values: some Collection<String>) -> Parameter {
      array(1009, of: 25, values.count) { buffer in
        for value in values {
          withUnsafeBytes(of: UInt32(value.utf8.count).bigEndian) { buffer.append(contentsOf: $0) }
          buffer.append(contentsOf: value.utf8)
        }
      }
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    /// Dimensions, a flag, the elements' type, their count and the first index, followed by the elements.
    private static func array(
      _ type: UInt32, of element: UInt32, _ count: Int, _ fill: (inout [UInt8]) -> Void
    ) -> Parameter {
      var buffer: [UInt8] = []
      buffer.reserveCapacity(20 + count * 12)
      for word in [count == 0 ? 0 : 1, 0, element, UInt32(count), 1].prefix(count == 0 ? 3 : 5) {
        withUnsafeBytes(of: UInt32(word).bigEndian) { buffer.append(contentsOf: $0) }
      }
      fill(&buffer)
      return Parameter(type: type, bytes: buffer)
    }
  }

  /// The rows of a result in binary form.
  final class Rows {
    let result: OpaquePointer
    let count: Int

    init(_ result: OpaquePointer) {
      self.result = result
      count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    func integer(_ row: Int, _ column: Int32) -> Int64 {
      guard let value = PQgetvalue(result, Int32(row), column) else { return 0 }
      return Int64(bigEndian: UnsafeRawPointer(value).loadUnaligned(as: Int64.self))
    }

    func double(_ row: Int, _ column: Int32) -> Double { Double(bitPattern: UInt64(bitPattern: integer(row, column))) }

    func text(_ row: Int, _ column: Int32) -> String {
      guard let value = PQgetvalue(result, Int32(row), column) else { return "" }
      let length = Int(PQgetlength(result, Int32(row), column))
      return String(decoding: UnsafeRawBufferPointer(start: value, count: length), as: UTF8.self)
    }
  }

  init(_ url: String) throws {
    guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
      throw BenchmarkError("The server can't be reached.")
    }
    self.handle = handle
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  /// Runs statements in one flight, each prepared once.
  @discardableResult
  func run(_ statements: [(sql: String, parameters: [Parameter])]) throws -> [Rows] {
    for (sql, parameters) in statements where prepared[sql] == nil {
      let name = "plain_\(prepared.count)"
      let result = PQprepare(handle, name, sql, Int32(parameters.count), parameters.map(\.type))
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure() }
      prepared[sql] = name
    }
    PQenterPipelineMode(handle)
    for (sql, parameters) in statements { try send(prepared[sql] ?? "", parameters) }
    PQpipelineSync(handle)
    var rows: [Rows] = []
    var failure: BenchmarkError?
    for _ in statements {
      while let result = PQgetResult(handle) {
        let status = PQresultStatus(result)
        if status != PGRES_TUPLES_OK, status != PGRES_COMMAND_OK {
          failure = failure ?? BenchmarkError(String(cString: PQresultErrorMessage(result)))
        }
        rows.append(Rows(result))
      }
    }
    PQclear(PQgetResult(handle))
    PQexitPipelineMode(handle)
    if let failure { throw failure }
    return rows
  }

  private func send(_ name: String, _ parameters: [Parameter]) throws {
    let lengths = parameters.map { Int32($0.bytes.count) }
    let formats = parameters.map { _ in Int32(1) }
    // All values in one block, because pointers into several arrays aren't valid together.
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: max(parameters.reduce(0) { $0 + $1.bytes.count }, 1), alignment: 1)
    defer { block.deallocate() }
    var values: [UnsafePointer<CChar>?] = []
    var offset = 0
    for parameter in parameters {
      parameter.bytes.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { (block + offset).copyMemory(from: base, byteCount: bytes.count) }
      }
      values.append(UnsafePointer((block + offset).assumingMemoryBound(to: CChar.self)))
      offset += parameter.bytes.count
    }
    let isSent = PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
    guard isSent == 1 else { throw failure() }
  }

  private func failure() -> BenchmarkError { BenchmarkError(String(cString: PQerrorMessage(handle))) }
}
