import LinkedSQLite

/// The key of an encrypted store: a passphrase, or the bytes of a key.
///
/// A store asks ``StoreOptions/key`` for it whenever it opens a connection, and overwrites its memory as soon as the
/// connection has it. It can't be copied, printed or reflected.
///
/// ```swift
/// options.key = { .raw(try keychain.bytes(named: "store")) }
/// ```
///
/// A key derived from a passphrase takes SQLCipher 256,000 rounds, for each connection: on servers and for stores that
/// are opened often, keep 32 random bytes where you would keep the passphrase.
public struct StoreKey: ~Copyable {
  private enum Form { case passphrase, raw, invalid }
  /// As SQLCipher expects it: the passphrase, or a blob literal with the digits of a raw key.
  private let memory: UnsafeMutableRawBufferPointer
  private let form: Form

  private init(_ form: Form, count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
    self.form = form
    memory = .allocate(byteCount: count, alignment: 1)
    fill(memory)
  }

  deinit {
    persist_wipe(memory.baseAddress, memory.count)
    memory.deallocate()
  }

  /// A key that SQLCipher derives from a passphrase.
  ///
  /// The string itself stays in memory for as long as the program keeps it; bytes can be overwritten.
  public static func passphrase(_ text: String) -> StoreKey { passphrase(Array(text.utf8)) }

  /// A key that SQLCipher derives from the bytes of a passphrase.
  public static func passphrase(_ bytes: some Collection<UInt8>) -> StoreKey {
    StoreKey(.passphrase, count: bytes.count) { $0.copyBytes(from: bytes) }
  }

  /// A key of 32 bytes, or of 48 if the last 16 are the salt, which SQLCipher otherwise chooses and keeps at the
  /// beginning of the file.
  ///
  /// A key of another length is refused when a store is opened with it.
  public static func raw(_ bytes: some Collection<UInt8>) -> StoreKey {
    guard [32, 48].contains(bytes.count) else { return StoreKey(.invalid, count: 0) { _ in } }
    return StoreKey(.raw, count: bytes.count * 2 + 3) { memory in
      func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
      (memory[0], memory[1], memory[memory.count - 1]) = (UInt8(ascii: "x"), UInt8(ascii: "'"), UInt8(ascii: "'"))
      for (index, byte) in bytes.enumerated() {
        memory[2 + index * 2] = digit(byte >> 4)
        memory[3 + index * 2] = digit(byte & 15)
      }
    }
  }

  /// Whether it is a raw key with a salt.
  var containsSalt: Bool { form == .raw && memory.count > 67 }

  /// Calls `body` with the bytes for SQLCipher.
  ///
  /// - Throws: ``PersistenceError/Code/wrongKey`` for an empty passphrase, which would mean no encryption, and for a
  ///   raw key of another length.
  package borrowing func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
    switch form {
    case .invalid:
      throw PersistenceError(
        .wrongKey, "A raw key has 32 bytes, or 48 with the salt.", fix: "Use StoreKey.passphrase for anything else.")
    case .passphrase where memory.isEmpty:
      throw PersistenceError(.wrongKey, "The passphrase is empty.", fix: "Return the key of the store, or throw.")
    case .passphrase, .raw: return try body(UnsafeRawBufferPointer(memory))
    }
  }
}
