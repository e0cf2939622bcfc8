import Foundation
import Testing

@testable import PersistCommand

@Suite("The output of a build")
struct BuildLogTests {
  private let output = """
    Fetching https://example.com/package.git
    /tmp/Package.swift: warning: unused
    [1/4] Compiling A a.swift
    [12/48] Compiling B b.swift
    b.swift:3:1: error: no such module 'C'
    [13/48] Compiling D d.swift
    error: fatalError

    """

  @Test("It is read in pieces of any length", arguments: [1, 2, 7, 1000])
  func pieces(_ length: Int) {
    var log = BuildLog()
    let bytes = Array(output.utf8)
    for start in stride(from: 0, to: bytes.count, by: length) {
      log.append(Data(bytes[start..<min(start + length, bytes.count)]))
    }
    #expect(log.fraction == 13.0 / 48.0)
    #expect(log.step == "Compiling D d.swift")
    #expect(log.reason == "b.swift:3:1: error: no such module 'C'")
  }

  @Test("Without an error, the reason is the last line, and a step is a line without a number too")
  func noError() {
    var log = BuildLog()
    log.append(Data("Planning build\n/a.swift: warning: b\n".utf8))
    #expect(log.step == "Planning build" && log.reason == "/a.swift: warning: b" && log.fraction == 0)
  }
}
