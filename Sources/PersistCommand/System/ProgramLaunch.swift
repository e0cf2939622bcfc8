import Foundation
import Persist

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finding other programs, and running them beside this one or in its place.
enum ProgramLaunch {
  /// The name of a program's file.
  static func fileName(of program: String) -> String {
    #if os(Windows)
      return program + ".exe"
    #else
      return program
    #endif
  }

  /// The first program of a name in folders.
  ///
  /// - Parameter folders: Those of the variable PATH by default.
  /// - Returns: nil if there is none.
  static func find(_ program: String, in folders: [URL] = searchPath) -> URL? {
    folders.map { $0.appendingPathComponent(fileName(of: program)) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// The folders of the variable PATH.
  static var searchPath: [URL] {
    #if os(Windows)
      let separator: Character = ";"
    #else
      let separator: Character = ":"
    #endif
    return (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: separator).map {
      URL(fileURLWithPath: String($0), isDirectory: true)
    }
  }

  /// Replaces this process by a program, or runs it and exits with its status where the system can't replace processes.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess` if the program can't be started.
  static func run(_ program: URL, _ arguments: [String]) throws -> Never {
    #if os(Windows)
      let process = Process()
      process.executableURL = program
      process.arguments = arguments
      do { try process.run() } catch { throw failure(program, error.localizedDescription) }
      process.waitUntilExit()
      exit(process.terminationStatus)
    #else
      var pointers: [UnsafeMutablePointer<CChar>?] = ([program.path] + arguments).map { strdup($0) }
      pointers.append(nil)
      execv(program.path, pointers)
      let reason = String(cString: strerror(errno))
      for pointer in pointers { free(pointer) }
      throw failure(program, reason)
    #endif
  }

  /// Runs a program to its end.
  ///
  /// - Parameter read: Called with each part of what the program writes, to standard output or to standard error.
  /// - Returns: The program's exit status.
  /// - Throws: `PersistenceError.Code.fileAccess` if the program can't be started.
  static func run(_ program: URL, _ arguments: [String], reading read: (Data) -> Void) throws -> Int32 {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      throw failure(program, "this system allows no other programs")
    #else
      let process = Process()
      let pipe = Pipe()
      process.executableURL = program
      process.arguments = arguments
      (process.standardOutput, process.standardError) = (pipe, pipe)
      process.standardInput = FileHandle.nullDevice
      do { try process.run() } catch { throw failure(program, error.localizedDescription) }
      while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty { read(data) }
      process.waitUntilExit()
      return process.terminationStatus
    #endif
  }

  private static func failure(_ program: URL, _ reason: String) -> PersistenceError {
    PersistenceError(
      .fileAccess, at: .file(program), "'\(program.lastPathComponent)' can't be started: \(reason).")
  }
}
