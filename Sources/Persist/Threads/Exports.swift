@_exported public import PersistModel
