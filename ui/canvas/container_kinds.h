#pragma once

#include <QSet>
#include <QString>
#include <map>
#include <string_view>
#include <vector>

#include "ui/canvas/canvas_scene.h"

namespace fusescope {

/// All that sets the containers of one kind apart from those of another: scene, painter, keys and sessions ask this
/// table and know no kind by name.
struct ContainerKind {
  ItemKind item;
  std::string_view turnedKey;  ///< in sessions: those that are not as at first; empty: they stay as they are
  bool openAtFirst;
  bool knownByKey;  ///< in selections; names of these may be shared
  bool calculates;  ///< has a precision, and the colour of its mode; else it has that of its segment
  // How an open one looks.
  double header;          ///< height
  bool oneLine;           ///< title, detail and meta in one line; else a badge, and the detail below
  bool titleFromAfar;     ///< its title stands even where boxes show theirs alone
  bool dashedInFallback;  ///< its frame
  double tint, frame;     ///< how much of its colour its ground and its frame have
};
/// From the outside to the inside.
const std::vector<ContainerKind>& containerKinds();
/// Null of nodes, inputs and outputs.
const ContainerKind* containerKind(ItemKind item);

/// What of a plan is open. Handles and names, so that it outlives the plan.
class OpenState {
 public:
  bool isOpen(ItemKind kind, const QString& handle) const;
  void set(ItemKind kind, const QString& handle, bool open);
  /// Handles of one kind that are not as containers of this kind are at first.
  QSet<QString> turned(ItemKind kind) const;
  void setTurned(ItemKind kind, const QSet<QString>& handles);
  bool operator==(const OpenState& other) const = default;

 private:
  std::map<ItemKind, QSet<QString>> m_turned;  ///< no empty sets
};

}  // namespace fusescope
