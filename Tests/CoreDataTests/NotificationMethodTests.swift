import CoreData
import Foundation
import Synchronization
import Testing

private let name = Notification.Name("NotificationMethodTests")

/// Observes notifications as the source pass writes it.
private final class Observer {
  var calls: [String] = []

  init(_ center: NotificationCenter, _ object: AnyObject? = nil) {
    center.addObserver(self, calling: { $0.received(_:) }, name: name, object: object)
    center.addObserver(self, calling: { $0.old }, name: name, object: object)
    center.addObserver(self, calling: { $0.plain }, name: name, object: object)
  }

  private func received(_ notification: Notification) { calls.append("received \(notification.name.rawValue.count)") }
  private func old(note: NSNotification) { calls.append("old") }
  private func plain() { calls.append("plain") }
}

private final class Counter: Sendable {
  private let number = Mutex(0)

  var value: Int { number.withLock { $0 } }

  func increment() { number.withLock { $0 += 1 } }
}

@Suite("Methods that are called for notifications")
struct NotificationMethodTests {
  private let center = NotificationCenter()

  @Test("Each form of method is called until the observer is removed")
  func calls() {
    let observer = Observer(center)
    center.post(name: name, object: nil)
    #expect(observer.calls.sorted() == ["old", "plain", "received 23"])
    center.removeObserver(observer)
    center.post(name: name, object: nil)
    #expect(observer.calls.count == 3)
  }

  @Test("Only notifications of the object count, and names and objects select what is removed")
  func objects() {
    let (first, second) = (NSObject(), NSObject())
    let observer = Observer(center, first)
    center.post(name: name, object: second)
    #expect(observer.calls.isEmpty)
    center.removeObserver(observer, name: name, object: second)
    center.removeObserver(observer, name: .init("other"), object: nil)
    center.post(name: name, object: first)
    #expect(observer.calls.count == 3)
    center.removeObserver(observer, name: name, object: first)
    center.post(name: name, object: first)
    #expect(observer.calls.count == 3)
  }

  @Test("An observer isn't held, and a token of a block is removed as before")
  func lifetimes() {
    var observer: Observer? = Observer(center)
    weak let weak = observer
    observer = nil
    #expect(weak == nil)
    center.post(name: name, object: nil)
    let count = Counter()
    let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in count.increment() }
    center.post(name: name, object: nil)
    center.removeObserver(token)
    center.post(name: name, object: nil)
    #expect(count.value == 1)
  }
}
