import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Lazy values")
struct LazyTests {
  private final class Token: Sendable {}

  @Test("Threads that need a value at once compute it once, and all get the same")
  func threads() {
    let computations = LockProtected(0)
    let lazy = Lazy {
      computations.withLock { $0 += 1 }
      Thread.sleep(forTimeInterval: 0.01)
      return Token()
    }
    let found = LockProtected<Set<ObjectIdentifier>>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      let id = ObjectIdentifier(lazy.value)
      found.withLock { _ = $0.insert(id) }
    }
    #expect(computations.withLock { $0 } == 1)
    #expect(found.withLock(\.count) == 1)
  }

  @Test("A value lives as long as its holder, and its computation until it is known")
  func lifetimes() throws {
    var source: Token? = Token()
    weak let weakSource = source
    var lazy: Lazy<(Token, String)>? = Lazy { [source] in
      _ = source
      return (Token(), String(repeating: "text on the heap ", count: 3))
    }
    source = nil
    #expect(weakSource != nil)
    weak let weakValue = lazy?.value.0
    #expect(weakSource == nil && weakValue != nil)
    #expect(lazy?.value.1.count == 51)
    lazy = nil
    #expect(weakValue == nil)
    // Without a value there is nothing to free.
    _ = Lazy { Token() }
  }
}
