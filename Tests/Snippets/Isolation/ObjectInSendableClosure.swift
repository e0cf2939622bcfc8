import Persist

func each(_ body: @escaping @Sendable () -> Void) { body() }

func count(_ item: ManagedObject) {
  each {
    _ = item.objectID  // expect-error: capture of 'item' with non-Sendable type 'ManagedObject'
  }
}
