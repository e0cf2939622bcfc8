import Foundation
import Persist

/// What Persist does.
enum PersistParts: ContestantParts {
  static func fill(_ url: URL, rows: Int) throws { }
  static func insert(_ setting: Workload.Setting) throws -> () throws -> UInt64 { { 0 } }
  static func fetch(_ setting: Workload.Setting) throws -> () throws -> UInt64 { { 0 } }
  static func read(_ setting: Workload.Setting) throws -> () throws -> UInt64 { { 0 } }
  static func update(_ setting: Workload.Setting) throws -> () throws -> UInt64 { { 0 } }
  static func delete(_ setting: Workload.Setting) throws -> () throws -> UInt64 { { 0 } }
}
