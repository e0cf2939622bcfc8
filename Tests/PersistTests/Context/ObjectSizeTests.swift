#if canImport(Glibc)
  import Glibc
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Memory of objects")
  struct ObjectSizeTests {
    @Test("A fetched object takes at most 72 bytes, and 80 with those of the allocator")
    func size() throws {
      let model = ModelDescription(entities: [EntityDescription("Item", attributes: [.init("name", .string)])])
      try withStack(model) { stack in
        let context = stack.context()
        try context.make("Item", ["name": "Tea"])
        try context.save()
        let item = try #require(stack.context().fetch(FetchRequest("Item")).first)
        // glibc's function isn't in Swift's module of it.
        typealias UsableSize = @convention(c) (UnsafeMutableRawPointer) -> Int
        let symbol = try #require(dlsym(nil, "malloc_usable_size"))
        let usableSize = unsafeBitCast(symbol, to: UsableSize.self)
        #expect(usableSize(Unmanaged.passUnretained(item).toOpaque()) <= 72)
      }
    }
  }
#endif
