public import Foundation

extension NotificationCenter {
  /// Notifications as they are posted. Foundation has this sequence on Apple's platforms only.
  public struct Notifications: AsyncSequence, Sendable {
    /// A notification.
    public typealias Element = Notification
    /// The sequence has no errors.
    public typealias Failure = Never

    fileprivate let center: NotificationCenter
    fileprivate let name: Notification.Name
    fileprivate let object: Transferred<AnyObject?>

    /// Returns an iterator, which observes notifications as long as it exists.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Waits for notifications one after the other.
    public struct Iterator: AsyncIteratorProtocol {
      private var notifications: AsyncStream<Transferred<Notification>>.Iterator

      fileprivate init(_ sequence: Notifications) {
        let (stream, continuation) = AsyncStream.makeStream(of: Transferred<Notification>.self)
        let observer = Transferred(
          sequence.center.addObserver(forName: sequence.name, object: sequence.object.value, queue: nil) {
            continuation.yield(Transferred($0))
          })
        let center = sequence.center
        continuation.onTermination = { _ in center.removeObserver(observer.value) }
        notifications = stream.makeAsyncIterator()
      }

      /// Waits for the next notification; nil when the task is canceled.
      public mutating func next() async -> Notification? { await notifications.next()?.value }
    }
  }

  /// Returns the notifications with a name, of one object or of all, as they are posted.
  public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
    Notifications(center: self, name: name, object: Transferred(object))
  }
}
