#pragma once

#include <qnamespace.h>

namespace fusescope {

/// Roles that the window's item models add.
enum ModelRole {
  kNameRole = Qt::UserRole + 1,  ///< QString: the name in the plan that the row is about; a click goes there
  kSortRole,                     ///< what to sort by, where the text is not it
  kBarRole,                      ///< double 0 … 1: drawn as a bar below the text
  kToneRole,                     ///< int Tone
  kNewRole,                      ///< bool: came with the last edit
  kTwinRole,  ///< QString: the text that is most like it, from which it is to be told where it is cut
};

/// What a cell says besides its text; views give it colour and a mark.
enum class Tone { Plain, Dim, Good, Warning, Bad };

}  // namespace fusescope
