#pragma once

#include <QSet>
#include <QString>
#include <map>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

struct CanvasItem;
struct CoverBody;
struct LevelParts;

/// How containers of a kind look when they are open.
struct ContainerLook {
  double header = metrics::kSegmentHeader;  ///< height
  bool oneLine = true;                      ///< title, detail and meta in one line; else a badge, and the detail below
  bool titleFromAfar = true;                ///< its title stands even where boxes show theirs alone
  bool dashedInFallback = true;             ///< its frame
  double tint = 0, frame = 0.25;            ///< how much of its colour its ground and its frame have
};

/// All that sets the containers of one kind apart from those of another: scene, painter, keys and sessions take it from
/// here and know no kind by name. Kinds are listed in container_kinds.inc.
struct ContainerKind {
  std::string_view name;       ///< "segment"
  std::string_view turnedKey;  ///< in sessions: those that are not as at first; empty: they stay as they are
  bool openAtFirst = true;
  bool knownByKey = false;       ///< in selections; names of these may be shared
  bool nests = false;            ///< one may be in another of its kind, which comes before it
  bool opensForContent = false;  ///< when something in it is selected elsewhere
  bool calculates = false;       ///< has a precision, and the colour of its mode; else it has that of its segment
  ContainerLook look{};
  /// How many there are in a cover, and which nodes each stands for, which is put in place of what is in `nodes`. It is
  /// drawn in the innermost container of the kinds around that holds all of them; one without nodes is not drawn.
  std::size_t (*count)(const LevelParts& level);
  void (*nodes)(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes);
  /// What it says: key, name, title and so on, and whether it can be opened. Sizes and place come later.
  CanvasItem (*item)(const LevelParts& level, std::size_t part);
  /// The cover that it shows in place of its node. Null: it shows its nodes.
  const CoverBody* (*body)(const LevelParts& level, std::size_t part) = nullptr;
};

/// That of fused nodes, which a cover is made of.
const ContainerKind& fusedContainers();
/// That of blocks: what modules of the network are in a segment.
const ContainerKind& moduleContainers();

/// From the outside to the inside.
const std::vector<const ContainerKind*>& containerKinds();

/// What of a cover is open. Handles and names, so that it outlives the cover.
class OpenState {
 public:
  bool isOpen(const ContainerKind& kind, const QString& handle) const;
  void set(const ContainerKind& kind, const QString& handle, bool open);
  /// Handles of one kind that are not as containers of this kind are at first.
  QSet<QString> turned(const ContainerKind& kind) const;
  void setTurned(const ContainerKind& kind, const QSet<QString>& handles);
  bool operator==(const OpenState& other) const = default;

 private:
  std::map<std::string_view, QSet<QString>> m_turned;  ///< by name of the kind; no empty sets
};

}  // namespace fusescope
