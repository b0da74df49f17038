"""What grasp databases need beside this package, and one line where it is missing."""

from importlib import import_module

from ...core.errors import GripsimError


def require_sqlalchemy() -> None:
    """
    Do nothing where SQLAlchemy 2 is installed.

    Raises
    ------
    GripsimError
        It is not; the line says what to install.
    """
    try:
        import_module('sqlalchemy.orm').DeclarativeBase
    except (ImportError, AttributeError) as error:
        raise GripsimError('a grasp database needs SQLAlchemy 2: install gripsim_ros[sweep], or '
                           f'`pip install "SQLAlchemy>=2"` ({error})') from None
