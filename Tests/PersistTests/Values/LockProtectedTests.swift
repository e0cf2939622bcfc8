import Testing

@testable import Persist
@testable import PersistModel

@Suite("Values behind locks")
struct LockProtectedTests {
  private final class Token: Sendable {}

  @Test("Copies share the value, which lives as long as one of them")
  func copies() {
    var token: Token? = Token()
    weak let weakToken = token
    let text = String(repeating: "text on the heap ", count: 3)
    var first: LockProtected<(Token?, String)>? = LockProtected((token, text))
    var second = first
    token = nil
    first?.withLock { $0.1 += "!" }
    first = nil
    #expect(weakToken != nil)
    #expect(second?.withLock(\.1.count) == 52)
    second = nil
    #expect(weakToken == nil)
  }

  @Test("A value that was replaced is freed at once")
  func replacement() {
    let protected = LockProtected<Token?>(Token())
    weak let weakToken = protected.withLock(\.self)
    protected.withLock { $0 = nil }
    #expect(weakToken == nil)
  }
}
